import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What only asks databases, hosts and pages: files share a process, which loads the source once and not for each. */
const TOGETHER = [
  'analytics',
  'browser',
  'config',
  'dashboard',
  'diagnostics',
  'model',
  'notifications',
  'spec',
  'triage',
].map((folder) => `test/${folder}/**/*.test.{ts,tsx}`)

/** What waits for packages that are still being installed; `--exclude` does not reach the projects. */
const LATER = process.env.FAULTBOARD_TEST_LATER?.split(',').filter(Boolean) ?? []

/** Begun last, each of these would be waited for alone at the end. */
const LONGEST = [
  'test/notifications/fleet',
  'test/adapters/express.',
  'test/store/away',
  'test/browser/',
  'test/store/concurrency',
  'test/jobs/embedded',
  'test/adapters/n',
  'test/store/recording',
  'test/capture/workers',
  'test/capture/hostile-values',
  'test/cli/',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = LONGEST.findIndex((part) => moduleId.includes(part))
      return found < 0 ? LONGEST.length : found
    }
    return (await super.sort(files)).sort((a, b) => place(a) - place(b))
  }
}

export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: 'hono/jsx' },
  test: {
    globalSetup: ['test/support/build-once.ts', 'test/support/templates.ts'],
    pool: 'forks',
    fileParallelism: true,
    // More than a small machine has cores: many tests wait for a server, a browser or a probe.
    maxWorkers: Number(process.env.FAULTBOARD_TEST_WORKERS || 5),
    sequence: { sequencer: LongestFirst },
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
