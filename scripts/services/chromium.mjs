import { findProgram } from './programs.mjs'

/** Not a server: its "url" is the path of the program, and the tests start it themselves. */
export const chromium = {
  name: 'Chromium',
  variable: 'FAULTBOARD_TEST_CHROMIUM',
  debianPackage: 'chromium',
  find: () => ['chromium', 'chromium-browser', 'google-chrome'].map(findProgram).find(Boolean),
  start: async (path) => ({ name: 'Chromium', url: path, stop: async () => {} }),
}
