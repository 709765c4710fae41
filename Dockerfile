# syntax=docker/dockerfile:1

# Builds svc, packs it as for npm, and leaves out what only building takes.
FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build \
 && npm pack --ignore-scripts \
 && mkdir /out \
 && tar -xzf svc-*.tgz -C /out --strip-components=1 \
 && npm prune --omit=dev --ignore-scripts \
 && npm rebuild better-sqlite3 \
 && mv node_modules /out/

FROM node:22-bookworm-slim
ENV NODE_ENV=production \
    SVC_STATE_DIR=/var/lib/svc
COPY --from=build /out /opt/svc
RUN ln -s /opt/svc/bin/svc.mjs /usr/local/bin/svc \
 && install -d -o node -g node -m 0700 /var/lib/svc
USER node
WORKDIR /var/lib/svc
VOLUME /var/lib/svc
EXPOSE 18789
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:18789/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=4", "/opt/svc/bin/svc.mjs"]
CMD ["gateway", "run", "--bind", "lan", "--port", "18789", "--allow-unconfigured"]
