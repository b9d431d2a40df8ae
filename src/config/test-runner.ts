/** Variables that Jest, Vitest, node:test and parallel Mocha set. */
const VARIABLES = ['JEST_WORKER_ID', 'VITEST', 'NODE_TEST_CONTEXT', 'MOCHA_WORKER_ID']

/** Mocha, and test files of node:test that are executed without its runner. */
const PROGRAMS = /[\\/](?:_?mocha(?:\.js)?|mocha[\\/]lib[\\/]cli[\\/]cli\.js|[^\\/]*\.(?:test|spec)\.[cm]?[jt]sx?)$/

/**
 * Whether a test runner runs this process. NODE_ENV does not count: a server with NODE_ENV=test must not lose its
 * errors at a restart.
 */
export function isTestRun(env: NodeJS.ProcessEnv): boolean {
  if (VARIABLES.some((name) => env[name])) return true
  return process.execArgv.includes('--test') || PROGRAMS.test(process.argv[1] ?? '')
}
