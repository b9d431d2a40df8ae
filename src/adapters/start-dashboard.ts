import { describeUnsupportedVersion, type SupportedPackage } from '../config/supported-packages.js'
import type { LocateDashboard } from '../dashboard/announce.js'
import { ConfigurationError } from '../model/errors.js'
import type { TrackerInstance } from '../tracker.js'

/** Not part of any URL, so that a tracker that is turned off serves no request. */
const NO_PATH = '\0'

/**
 * Starts a tracker whose dashboard an adapter serves, and returns the path of the dashboard. `locate` finds the dashboard
 * on a server of the host, to print its URL. Throws a ConfigurationError if the credentials are missing or the installed
 * framework is too old.
 */
export function startDashboard(
  tracker: TrackerInstance,
  framework?: SupportedPackage | null,
  locate?: LocateDashboard,
): { mount_path: string; enabled: boolean } {
  const problem = framework && describeUnsupportedVersion(framework)
  if (problem && tracker.start().config.enabled) throw new ConfigurationError([problem])
  const { mount_path, enabled } = tracker.startDashboard(locate).config
  return { mount_path: enabled ? mount_path : NO_PATH, enabled }
}
