/** Variables that Jest, Vitest, node:test and parallel Mocha set. */
const VARIABLES = ['JEST_WORKER_ID', 'VITEST', 'NODE_TEST_CONTEXT', 'MOCHA_WORKER_ID']

/** Matches Mocha, and node:test files that run without the test runner. */
const PROGRAMS = /[\\/](?:_?mocha(?:\.js)?|mocha[\\/]lib[\\/]cli[\\/]cli\.js|[^\\/]*\.(?:test|spec)\.[cm]?[jt]sx?)$/

/**
 * Checks whether this process belongs to a test runner. Ignores NODE_ENV, because a server with NODE_ENV=test must not
 * lose its errors on restart.
 */
export function isTestRun(env: NodeJS.ProcessEnv): boolean {
  if (VARIABLES.some((name) => env[name])) return true
  return process.execArgv.includes('--test') || PROGRAMS.test(process.argv[1] ?? '')
}
