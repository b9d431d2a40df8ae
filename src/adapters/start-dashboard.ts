import { type SupportedPackage, unsupportedVersion } from '../config/supported-packages.js'
import { ConfigurationError } from '../model/errors.js'
import type { TrackerInstance } from '../tracker.js'

/**
 * Starts a tracker whose dashboard an adapter serves, and returns its options. Throws a ConfigurationError if the
 * credentials are missing or the installed framework is too old.
 */
export function startDashboard(tracker: TrackerInstance, framework?: SupportedPackage): TrackerInstance['config'] {
  const problem = framework && unsupportedVersion(framework)
  if (problem) throw new ConfigurationError([problem])
  return tracker.startDashboard().config
}
