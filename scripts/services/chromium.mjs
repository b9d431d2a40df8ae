import { findProgram } from './programs.mjs'

/** Not a server: `url` is the path of the program, which the tests start. */
export const chromium = {
  name: 'Chromium',
  variable: 'FAULTBOARD_TEST_CHROMIUM',
  debianPackage: 'chromium',
  find: () => ['chromium', 'chromium-browser', 'google-chrome'].map(findProgram).find(Boolean),
  start: async (path) => ({ name: 'Chromium', url: path, stop: async () => {} }),
}

/**
 * Features to disable. This list replaces that of Playwright, so it repeats the names that matter on Linux. The popups of
 * the address bar start a renderer per window, which takes half of the CPU time of the browser tests.
 */
const DISABLED_FEATURES = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades', 'LensOverlay'],
  ...['HttpsFirstBalancedModeAutoEnable', 'MediaRouter', 'PaintHolding', 'ThirdPartyStoragePartitioning'],
  ...['AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled'],
  'PreconnectToSearch',
]

/** Arguments for a browser that makes no requests of its own. */
export const CHROMIUM_ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  ...['--disable-sync', `--disable-features=${DISABLED_FEATURES}`],
]
