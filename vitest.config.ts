import { defineConfig } from 'vitest/config'

/**
 * Tests that change their own process: console, stack traces, process events, drivers, global APIs. Each file gets a
 * process of its own. All other files share processes, which load the source once instead of once per file. A test
 * that only starts other processes belongs to the shared ones.
 */
const ISOLATED = [
  // @hono/node-server replaces the global Request and Response, which h3 does not recognize.
  'test/adapters/{h3,hono,types}.test.ts',
  'test/reporting/**/frameworks.test.ts',
  'test/browser-client/**/*.test.{ts,tsx}',
  'test/capture/**/{anonymous-functions,anonymous-callbacks,minified-names,hostile-source-maps}.test.ts',
  'test/capture/**/{breadcrumbs,breadcrumbs-console,breadcrumbs-redis,breadcrumbs-sql}.test.ts',
  'test/capture/**/{crash-capture,process-hooks,report,request-reads,scope,severity-table,wrapped-methods}.test.ts',
  'test/capture/source-maps/**/*.test.ts',
  'test/diagnostics/**/{describe-value,ledger,transform}.test.ts',
  'test/subscribers/**/*.test.ts',
]

const isQuick = Boolean(process.env.FAULTBOARD_TEST_QUICK)
const FILES = isQuick
  ? ['analytics', 'config', 'model', 'structure', 'triage'].map((folder) => `test/${folder}/**/*.test.{ts,tsx}`)
  : ['test/**/*.test.{ts,tsx}']

/** Files that another pass of `npm test` runs. `--exclude` does not reach the projects. */
const OTHER_PASS = process.env.FAULTBOARD_TEST_EXCLUDE?.split(',').filter(Boolean) ?? []
const EXCLUDED = ['**/node_modules/**', ...OTHER_PASS]

export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: 'hono/jsx' },
  test: {
    globalSetup: ['test/support/build-once.ts', 'test/support/templates.ts'],
    pool: 'forks',
    fileParallelism: true,
    // More than the cores of a small machine: many tests wait for a server, a browser or a child process.
    maxWorkers: Number(process.env.FAULTBOARD_TEST_WORKERS || 4),
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Both projects, both passes and the retry use the source that was transformed once.
    experimental: { fsModuleCache: true },
    projects: [
      {
        extends: true,
        test: { name: 'shared', include: FILES, exclude: [...EXCLUDED, ...ISOLATED], isolate: false },
      },
      ...(isQuick
        ? []
        : [{ extends: true as const, test: { name: 'isolated', include: ISOLATED, exclude: EXCLUDED } }]),
    ],
  },
})
