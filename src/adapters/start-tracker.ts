import { type SupportedPackage, unsupportedVersion } from '../config/supported-packages.js'
import { ConfigurationError } from '../model/errors.js'
import type { TrackerInstance } from '../tracker.js'

/** Starts the tracker for an adapter and returns its options. Throws if the installed framework is too old. */
export function startTracker(tracker: TrackerInstance, framework: SupportedPackage): TrackerInstance['config'] {
  const problem = unsupportedVersion(framework)
  if (problem !== null) throw new ConfigurationError([problem])
  return tracker.start().config
}
