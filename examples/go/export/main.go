// Command export prints the revenue of a period as CSV, a row for each provider, whose ids are the lines of
// stdin: go run ./export 2026-11-01 2026-11-30 < ids. A provider that does not exist is told on stderr; the
// exit code is then 1.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	revenuev1 "revenue-example/gen/revenue/v1"
	"revenue-example/internal/revenue"
)

// atOnce is below the limit of one service key, and enough.
const atOnce = 8

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: export START END < ids")
	}
	client, conn, err := revenue.Connect()
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	fmt.Println("provider,totalRevenue,totalRentals")

	ids := make(chan string)
	var missing atomic.Bool
	var workers sync.WaitGroup
	for range atOnce {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for id := range ids {
				if err := exportOne(client, id); status.Code(err) == codes.NotFound {
					log.Printf("%s: %v", id, err)
					missing.Store(true)
				} else if err != nil {
					// It would fail for the others too.
					log.Fatalf("%s: %v", id, err)
				}
			}
		}()
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if id := strings.TrimSpace(lines.Text()); id != "" {
			ids <- id
		}
	}
	close(ids)
	workers.Wait()
	if lines.Err() != nil || missing.Load() {
		os.Exit(1)
	}
}

func exportOne(client revenuev1.RevenueServiceClient, id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	request := &revenuev1.GetServerBreakdownRequest{StartDate: os.Args[1], EndDate: os.Args[2]}
	period, err := client.GetServerBreakdown(revenue.About(ctx, id), request)
	if err != nil {
		return err
	}
	fmt.Printf("%s,%s,%d\n", id, period.GetTotalRevenue().GetValue(), period.GetTotalRentals())
	return nil
}
