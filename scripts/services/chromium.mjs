import { findProgram } from './programs.mjs'

/** Chromium without windows and a GPU: loading a page takes 40 % of the CPU time of the full browser. */
const HEADLESS_SHELL = 'chromium-headless-shell'

/** Not a server: `url` is the path of the program, which the tests start. */
export const chromium = {
  name: 'Chromium',
  variable: 'FAULTBOARD_TEST_CHROMIUM',
  debianPackage: HEADLESS_SHELL,
  isInstalled: () => findProgram(HEADLESS_SHELL) !== undefined,
  // The full browser is used where the shell cannot be installed.
  find: () => [HEADLESS_SHELL, 'chromium', 'chromium-browser', 'google-chrome'].map(findProgram).find(Boolean),
  start: async (path) => ({ name: 'Chromium', url: path, stop: async () => {} }),
}
