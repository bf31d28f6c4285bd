// Command nightly writes what each provider earned in a period to a CSV file:
// go run ./nightly 2026-11-01 2026-11-30 november.csv. A run that was stopped, or failed, is gone on with by the
// same command: until the file is complete, its rows are in november.csv.part, and how far they go in
// november.csv.next.
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"strings"
	"time"

	revenuev1 "revenue-example/gen/revenue/v1"
	"revenue-example/internal/revenue"
)

const pageSize = 1000

var header = strings.Split("providerId,name,grossRevenue,refunds,platformFees,earnings,completedPayouts,otherPayouts,availableBalance", ",")

// place is where an export goes on: the token of the next page, and the bytes of the part that belong to the pages
// before.
type place struct {
	PageToken string `json:"pageToken"`
	Bytes     int64  `json:"bytes"`
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: nightly START END FILE")
	}
	if err := writeAll(os.Args[3]); err != nil {
		log.Fatalf("%v; the same command goes on where this run has stopped", err)
	}
}

func writeAll(file string) error {
	_, conn, err := revenue.Connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	client := revenuev1.NewPlatformRevenueServiceClient(conn)

	var at place
	kept, err := os.ReadFile(file + ".next")
	if err == nil {
		err = json.Unmarshal(kept, &at)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	output, err := os.OpenFile(file+".part", os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer output.Close()
	// What was written of a page that is read again.
	if err := output.Truncate(at.Bytes); err != nil {
		return err
	}
	for {
		page, err := read(client, at.PageToken)
		if err != nil {
			return err
		}
		rows, err := lines(page, at.Bytes == 0)
		if err != nil {
			return err
		}
		if _, err := output.WriteAt(rows, at.Bytes); err != nil {
			return err
		}
		if err := output.Sync(); err != nil {
			return err
		}
		at = place{page.GetNextPageToken(), at.Bytes + int64(len(rows))}
		if at.PageToken == "" {
			break
		}
		if err := keep(file+".next", at); err != nil {
			return err
		}
	}
	if err := os.Rename(file+".part", file); err != nil {
		return err
	}
	if err := os.Remove(file + ".next"); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func read(client revenuev1.PlatformRevenueServiceClient, pageToken string) (*revenuev1.ListProviderRevenueResponse, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	return client.ListProviderRevenue(revenue.WithKey(ctx), &revenuev1.ListProviderRevenueRequest{
		StartDate: os.Args[1], EndDate: os.Args[2], PageSize: pageSize, PageToken: pageToken,
	})
}

func lines(page *revenuev1.ListProviderRevenueResponse, first bool) ([]byte, error) {
	var text bytes.Buffer
	writer := csv.NewWriter(&text)
	writer.UseCRLF = true
	if first {
		if err := writer.Write(header); err != nil {
			return nil, err
		}
	}
	for _, row := range page.GetProviders() {
		name := row.GetName()
		// What a spreadsheet would run.
		if start := strings.TrimLeft(name, "\" \t\r\n"); start != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(start)[0]) {
			name = "'" + name
		}
		if err := writer.Write([]string{
			row.GetProviderId(), name,
			row.GetGrossRevenue().GetValue(), row.GetRefunds().GetValue(),
			row.GetPlatformFees().GetValue(), row.GetEarnings().GetValue(),
			row.GetCompletedPayouts().GetValue(), row.GetOtherPayouts().GetValue(),
			row.GetAvailableBalance().GetValue(),
		}); err != nil {
			return nil, err
		}
	}
	writer.Flush()
	return text.Bytes(), writer.Error()
}

// keep replaces the place in one step, so that a run which is stopped meanwhile leaves the old one or the new one.
func keep(file string, at place) error {
	text, err := json.Marshal(at)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return fmt.Errorf("cannot keep the place: %w", err)
	}
	return os.Rename(file+".new", file)
}
