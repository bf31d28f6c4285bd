# The service with its production dependencies. Node runs the TypeScript sources; there is no build step.
FROM node:26-slim

WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0

COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

COPY gen gen
COPY src src

USER node
EXPOSE 8080 50051
# npm forwards SIGTERM to the service and exits with its exit code.
CMD ["npm", "start", "--silent"]
