import { defineConfig } from 'vitest/config'

/** What only asks databases, hosts and pages: files share a process, which loads the source once and not for each. */
const TOGETHER = [
  'analytics',
  'browser',
  'config',
  'dashboard',
  'diagnostics',
  'jobs',
  'model',
  'notifications',
  'spec',
  'store',
  'structure',
  'triage',
].map((folder) => `test/${folder}/**/*.test.{ts,tsx}`)

/** What waits for packages that are still being installed; `--exclude` does not reach the projects. */
const LATER = process.env.FAULTBOARD_TEST_LATER?.split(',').filter(Boolean) ?? []

export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: 'hono/jsx' },
  test: {
    globalSetup: ['test/support/build-once.ts', 'test/support/templates.ts'],
    pool: 'forks',
    fileParallelism: true,
    // Twice the cores of a small machine: many tests wait for a server, a browser or a probe.
    maxWorkers: 4,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'together', include: TOGETHER, exclude: LATER, isolate: false } },
      // What hooks into the process has one for itself.
      {
        extends: true,
        test: { name: 'apart', include: ['test/**/*.test.{ts,tsx}'], exclude: [...TOGETHER, ...LATER] },
      },
    ],
  },
})
