import { WORDS } from './dataset.mjs'

/** What people ask of the dashboard: a name and the path with its query below the mount. */
export const QUESTIONS = [
  ['errors', '/errors'],
  ['errors, 100 a page', '/errors?per_page=100'],
  ['errors, page 500', '/errors?page=500'],
  ['errors, unresolved', '/errors?unresolved=true'],
  ['errors, hide snoozed', '/errors?hide_snoozed=true'],
  ['errors of a severity', '/errors?severity=critical'],
  ['errors of a status', '/errors?status=investigating'],
  ['errors of a priority', '/errors?priority_level=3'],
  ['errors of a platform', '/errors?platform=iOS'],
  ['errors of a type', '/errors?error_type=Cart2Error'],
  ['errors of a version', '/errors?app_version=3.9.0'],
  ['errors of a user', '/errors?user_id=user-42'],
  ['errors of an assignee', '/errors?assigned_to=person-3'],
  ['errors of the last 7 days', '/errors?timeframe=last_7_days'],
  ['errors, rare filter', `/errors?app_version=${WORDS.version}`],
  ['errors by count', '/errors?sort_by=occurrence_count'],
  ['errors by severity', '/errors?sort_by=severity'],
  ['search, rare word', `/errors?search=${WORDS.rare}`],
  ['search, common word', `/errors?search=${WORDS.common}`],
  ['search, absent word', `/errors?search=${WORDS.absent}`],
  ['the hottest error', '/errors/1'],
  ['an error of the tail', '/errors/15000'],
  ['overview', '/overview'],
  ['settings', '/settings'],
]
