import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Nitro copies imported files only. The SQLite driver of Node.js before 22.16 locates its native binary at run time.
const folder = `node_modules/@photostructure/sqlite/prebuilds/${process.platform}-${process.arch}`
const drivers = ['glibc', 'musl'].map((libc) =>
  fileURLToPath(new URL(`${folder}/@photostructure+sqlite.${libc}.node`, import.meta.url)),
)

export default {
  compatibilityDate: '2026-01-01',
  preset: 'node-server',
  externals: { traceInclude: drivers.filter((driver) => existsSync(driver)) },
}
