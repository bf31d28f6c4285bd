// Command revenue prints the year's earnings, and what each server earned in the last 30 days, over
// gRPC. It needs REVENUE_GRPC (host:port) and REVENUE_API_KEY.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	revenuev1 "revenue-example/gen/revenue/v1"
)

// gRPC itself retries UNAVAILABLE, with growing pauses, within the call's deadline. Every request is
// safe to retry. RESOURCE_EXHAUSTED may be retried too if it has Retry-After, which a policy cannot say.
const serviceConfig = `{
  "methodConfig": [{
    "name": [{"service": "revenue.v1.RevenueService"}],
    "retryPolicy": {
      "maxAttempts": 4,
      "initialBackoff": "1s",
      "maxBackoff": "5s",
      "backoffMultiplier": 2,
      "retryableStatusCodes": ["UNAVAILABLE"]
    }
  }]
}`

func main() {
	// In production: credentials.NewTLS(&tls.Config{}) in place of insecure.NewCredentials().
	conn, err := grpc.NewClient(os.Getenv("REVENUE_GRPC"),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultServiceConfig(serviceConfig))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	client := revenuev1.NewRevenueServiceClient(conn)

	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "x-api-key", os.Getenv("REVENUE_API_KEY"))

	overview, err := client.GetOverview(ctx, &revenuev1.GetOverviewRequest{})
	if err != nil {
		log.Fatal(err)
	}
	// Amounts are decimal strings. Calculate with a decimal package or with integers of cents.
	fmt.Println("earnings this year:", overview.GetSummary().GetTotalEarningsYtd().GetValue())
	fmt.Println("balance:", overview.GetSummary().GetAvailableBalance().GetValue())

	breakdown, err := client.GetServerBreakdown(ctx, &revenuev1.GetServerBreakdownRequest{})
	if err != nil {
		log.Fatal(err)
	}
	for _, server := range breakdown.GetServers() {
		fmt.Printf("%14s  %s\n", server.GetTotalRevenue().GetValue(), server.GetServerName())
	}
	fmt.Printf("%14s  in all\n", breakdown.GetTotalRevenue().GetValue())
}
