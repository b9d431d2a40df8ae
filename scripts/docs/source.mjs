import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const TABLES_ENTRY = `
export * from './src/options.ts'
export { GROUPS } from './src/config/options.ts'
export { liveStream } from './src/dashboard/live.ts'
export { describeInput } from './src/model/input/describe-input.ts'
export { SEVERITY_TABLE } from './test/model/severity/severity-table.ts'
export { openApiDocument } from './src/dashboard/openapi/document.ts'
import { loadCommands } from './src/cli/command-table.ts'
export { EXIT_CODES } from './src/cli/command.ts'
import { DIAGNOSTICS } from './src/diagnostics/diagnostics.ts'
import { loadRoutes } from './src/diagnostics/routes.ts'
export const allRoutes = await loadRoutes(DIAGNOSTICS)
export const commands = await loadCommands('')
`

/** Loads the tables that the docs are generated from. Bundles the source, because `dist` can be outdated. */
export async function loadTables() {
  const { outputFiles } = await build({
    stdin: { contents: TABLES_ENTRY, resolveDir: process.cwd(), loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Loaded only if a database is opened.
    external: ['@photostructure/sqlite', 'pg', 'mysql2'],
    // The module is loaded from a data URL, which cannot be the base of another URL.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL('dist/index.js').href) },
    logLevel: 'error',
  })
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`)
}
