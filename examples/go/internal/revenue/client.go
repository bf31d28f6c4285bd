// Package revenue connects the programs of the platform to the service, with a service key. It needs
// REVENUE_GRPC (host:port) and REVENUE_SERVICE_KEY.
package revenue

import (
	"context"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/health" // or the health check of the service config is left out
	"google.golang.org/grpc/metadata"

	revenuev1 "revenue-example/gen/revenue/v1"
)

// Connect makes a client with the service config of this folder's module: run the programs there.
func Connect() (revenuev1.RevenueServiceClient, *grpc.ClientConn, error) {
	serviceConfig, err := os.ReadFile("service-config.json")
	if err != nil {
		return nil, nil, err
	}
	// In production: credentials.NewTLS(&tls.Config{}) in place of insecure.NewCredentials().
	conn, err := grpc.NewClient("dns:///"+os.Getenv("REVENUE_GRPC"),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		// A breakdown of 20,000 servers with their instances is larger than the 4 MiB that clients accept by default.
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)),
		grpc.WithDefaultServiceConfig(string(serviceConfig)))
	if err != nil {
		return nil, nil, err
	}
	return revenuev1.NewRevenueServiceClient(conn), conn, nil
}

// WithKey is the context of calls about all providers.
func WithKey(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "x-api-key", os.Getenv("REVENUE_SERVICE_KEY"))
}

// About is the context of calls about one provider, by its number in decimal.
func About(ctx context.Context, providerID string) context.Context {
	return metadata.AppendToOutgoingContext(WithKey(ctx), "x-provider-id", providerID)
}
