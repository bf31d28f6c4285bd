// Command revenue prints the year's earnings, and what each server earned in the last 30 days, over
// gRPC. It needs REVENUE_GRPC (host:port) and REVENUE_API_KEY.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/health" // or the health check of the service config is left out
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	revenuev1 "revenue-example/gen/revenue/v1"
)

// gRPC itself balances over the addresses of the service, leaves out those that are not healthy, and retries
// what was refused, when the service says so. Every request is safe to retry.
//
//go:embed service-config.json
var serviceConfig string

func main() {
	// In production: credentials.NewTLS(&tls.Config{}) in place of insecure.NewCredentials().
	conn, err := grpc.NewClient("dns:///"+os.Getenv("REVENUE_GRPC"),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		// A breakdown of 20,000 servers with their instances is larger than the 4 MiB that clients accept by default.
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)),
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
		fail(err)
	}
	// Amounts are decimal strings. Calculate with a decimal package or with integers of cents.
	fmt.Println("earnings this year:", overview.GetSummary().GetTotalEarningsYtd().GetValue())
	fmt.Println("balance:", overview.GetSummary().GetAvailableBalance().GetValue())

	breakdown, err := client.GetServerBreakdown(ctx, &revenuev1.GetServerBreakdownRequest{})
	if err != nil {
		fail(err)
	}
	for _, server := range breakdown.GetServers() {
		fmt.Printf("%14s  %s\n", server.GetTotalRevenue().GetValue(), server.GetServerName())
	}
	fmt.Printf("%14s  in all\n", breakdown.GetTotalRevenue().GetValue())
}

// fail ends the program with an error of the service. Programs branch on its reason, not on its text.
func fail(err error) {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			log.Fatalf("%s: %v", info.GetReason(), err)
		}
	}
	log.Fatal(err)
}
