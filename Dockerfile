# The service with its production dependencies. Node runs the TypeScript sources; there is no build
# step, and nothing writes to the file system.
FROM node:26-slim

WORKDIR /app
ENV NODE_ENV=production HOST=::

COPY package.json package-lock.json .npmrc ./
# npm leaves 40 MB of its cache, which nothing reads.
RUN npm ci --omit=dev && rm -rf /root/.npm /tmp/*

COPY gen gen
COPY src src
# They keep the modes of the checkout, which may be its owner's alone (umask 077).
RUN chmod -R a+rX package.json gen src

USER node
EXPOSE 8080 50051 9464
# As `npm start`, without npm, which would stay as a second process and write logs.
CMD ["node", "--require", "./src/node-version.cjs", "src/main.ts"]
