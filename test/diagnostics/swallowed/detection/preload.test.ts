import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { currentDetection } from '../../../../src/diagnostics/swallowed/detection/detection.js'
import { preloadDetection } from '../../../../src/diagnostics/swallowed/detection/preload.js'

test('installs no hooks if FAULTBOARD_ENABLED is false', () => {
  const before = currentDetection()
  const env = { FAULTBOARD_ENABLED: 'false', FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS: 'true' }
  preloadDetection({ env, dist: pathToFileURL(`${process.cwd()}/dist/`), warn: () => {} })
  expect(currentDetection()).toBe(before)
})
