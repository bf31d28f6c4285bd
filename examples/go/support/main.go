// Command support prints the overview of any provider: go run ./support 7.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	revenuev1 "revenue-example/gen/revenue/v1"
	"revenue-example/internal/revenue"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: support PROVIDER")
	}
	client, conn, err := revenue.Connect()
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	overview, err := client.GetOverview(revenue.About(ctx, os.Args[1]), &revenuev1.GetOverviewRequest{})
	if err != nil {
		log.Fatal(err)
	}
	// Amounts are decimal strings. Calculate with a decimal package or with integers of cents.
	fmt.Println("earnings this year:", overview.GetSummary().GetTotalEarningsYtd().GetValue())
	fmt.Println("balance:", overview.GetSummary().GetAvailableBalance().GetValue())
	for _, server := range overview.GetServerRevenue() {
		fmt.Printf("%14s  %s\n", server.GetTotalEarnings().GetValue(), server.GetServerName())
	}
}
