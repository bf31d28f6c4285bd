# The service with its production dependencies. Node runs the TypeScript sources; there is no build
# step, and nothing writes to the file system.
FROM node:26-slim

WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0

COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

COPY gen gen
COPY src src

USER node
EXPOSE 8080 50051 9464
# The script `start` of package.json without npm, which would stay as a second process and write logs.
# The script ends in `exec`, so Node is the only process and gets SIGTERM itself.
CMD ["sh", "-c", "eval \"$(node --print 'require(\"./package.json\").scripts.start')\""]
