import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/**
 * Test files share processes, which load the source once instead of once per file (2 s of CPU time). These files get a
 * process of their own: @hono/node-server replaces the global Request and Response, which h3 does not recognize.
 */
const ISOLATED = ['test/adapters/{fetch,h3,hono,types}.test.ts', 'test/reporting/**/frameworks.test.ts']

/**
 * Tests that change their own process and restore it: console, stack traces, process events, drivers, global APIs. They
 * share processes with each other only. A test that only starts other processes is not one of them.
 */
const CHANGING_PROCESS = [
  'test/browser-client/**/*.test.{ts,tsx}',
  'test/capture/**/{anonymous-functions,anonymous-callbacks,minified-names,hostile-source-maps}.test.ts',
  'test/capture/**/{breadcrumbs,breadcrumbs-console,breadcrumbs-redis,breadcrumbs-sql}.test.ts',
  'test/capture/**/{crash-capture,process-hooks,report,request-reads,scope,severity-table,spelling,wrapped-methods}.test.ts',
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
/** Takes half a minute of CPU time. */
const SLOW = isQuick ? ['test/model/linear-time.test.ts'] : []
const EXCLUDED = ['**/node_modules/**', ...OTHER_PASS, ...SLOW]

export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: '#html', jsxDev: false },
  resolve: { alias: { '#html': fileURLToPath(new URL('src/html', import.meta.url)) } },
  test: {
    globalSetup: ['test/support/build-once.ts', 'test/support/templates.ts'],
    // Hosts that tests start behave as in production, not as in a test run.
    env: { VITEST: '' },
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
        test: {
          name: 'shared',
          include: FILES,
          exclude: [...EXCLUDED, ...ISOLATED, ...CHANGING_PROCESS],
          isolate: false,
        },
      },
      ...(isQuick
        ? []
        : [
            {
              extends: true as const,
              test: { name: 'process', include: CHANGING_PROCESS, exclude: EXCLUDED, isolate: false },
            },
            { extends: true as const, test: { name: 'isolated', include: ISOLATED, exclude: EXCLUDED } },
          ]),
    ],
  },
})
