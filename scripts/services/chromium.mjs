import { findProgram } from './programs.mjs'

/** Not a server: `url` is the path of the program, which the tests start. */
export const chromium = {
  name: 'Chromium',
  variable: 'FAULTBOARD_TEST_CHROMIUM',
  debianPackage: 'chromium',
  find: () => ['chromium', 'chromium-browser', 'google-chrome'].map(findProgram).find(Boolean),
  start: async (path) => ({ name: 'Chromium', url: path, stop: async () => {} }),
}
