import { findProgram } from './programs.mjs'

/**
 * Headless shell: renders the same pages without browser windows, which take half of the CPU time of the browser tests.
 */
const SHELL = 'chromium-headless-shell'

/** Not a server: `url` is the path of the program, which the tests start. */
export const chromium = {
  name: 'Chromium',
  variable: 'FAULTBOARD_TEST_CHROMIUM',
  debianPackage: SHELL,
  /** Any browser is enough for the tests, but the shell is installed where that is possible. */
  isInstalled: () => findProgram(SHELL) !== undefined,
  find: () => [SHELL, 'chromium', 'chromium-browser', 'google-chrome'].map(findProgram).find(Boolean),
  start: async (path) => ({ name: 'Chromium', url: path, stop: async () => {} }),
}
