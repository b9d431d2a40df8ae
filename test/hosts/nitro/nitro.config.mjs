import { fileURLToPath } from 'node:url'

// Nitro takes along what it sees imported; the compiled part of the SQLite driver is found only when it runs.
const prebuilt = `@photostructure/sqlite/prebuilds/${process.platform}-${process.arch}/@photostructure+sqlite.glibc.node`

export default {
  compatibilityDate: '2026-01-01',
  preset: 'node-server',
  externals: { traceInclude: [fileURLToPath(new URL(`../../../../node_modules/${prebuilt}`, import.meta.url))] },
}
