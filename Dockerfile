# The service with its production dependencies. Node runs the TypeScript sources; there is no build
# step, and nothing writes to the file system.
# The newest patch of Node 26 that the registry has, if it is built with --pull. Another one needs no
# other change: --build-arg NODE=26.x.y
ARG NODE=26
FROM node:$NODE-slim
LABEL org.opencontainers.image.licenses=Apache-2.0

WORKDIR /app
ENV NODE_ENV=production HOST=::

COPY LICENSE package.json package-lock.json .npmrc ./
# npm leaves 40 MB of its cache, which nothing reads.
RUN npm ci --omit=dev && rm -rf /root/.npm /tmp/*

COPY gen gen
COPY src src
# They keep the modes of the checkout, which may be its owner's alone (umask 077).
RUN chmod -R a+rX LICENSE package.json gen src

# Node's permission model: the network, and reading of the program, secrets (also by standard input) and its own
# state; no writing, child process, worker or addon. --allow-net is called experimental, on stderr.
ENV NODE_OPTIONS="--permission --allow-net --allow-fs-read=/app/ --allow-fs-read=/run/secrets/ --allow-fs-read=/dev/stdin --allow-fs-read=/proc/self/ --disable-warning=ExperimentalWarning"
USER node
EXPOSE 8080 50051 9464
# Whether it should get traffic. The image has no curl. Of the commands, only the rollups serve it, with
# `--admin-port 9464`.
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "--eval", "const port = process.env.ADMIN_PORT || 9464; if (port !== 'off') fetch(`http://127.0.0.1:${port}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# As `npm start`, without npm, which would stay as a second process and write logs.
CMD ["node", "--require", "./src/node-version.cjs", "src/main.ts"]
