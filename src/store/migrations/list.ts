import { errors } from './0001-errors.js'
import { triage } from './0002-triage.js'
import { analytics } from './0003-analytics.js'
import { jobs } from './0004-jobs.js'
import { diagnostics } from './0005-diagnostics.js'
import { list } from './0006-list.js'
import { overview } from './0007-overview.js'
import { insight } from './0008-insight.js'
import { sums } from './0009-sums.js'
import { counts } from './0010-counts.js'
import { notifications } from './0011-notifications.js'
import { attention } from './0012-attention.js'
import { swallowed } from './0013-swallowed.js'
import { processes } from './0014-processes.js'
import { counted } from './0015-counted.js'
import { sourceMaps } from './0016-source-maps.js'
import { reportedEvents } from './0017-reported-events.js'
import { mapSources } from './0018-map-sources.js'
import { searchHistory } from './0019-search-history.js'
import { cascadeChance } from './0021-cascade-chance.js'
import { clientErrors } from './0022-client-errors.js'
import { cascadeCoverage } from './0023-cascade-coverage.js'
import { shownOccurrence } from './0024-shown-occurrence.js'
import type { Migration } from './table.js'

/** Every migration, in order. One that was released is never changed: a new one follows it. */
export const MIGRATIONS: Record<string, Migration> = {
  '0001-errors': errors,
  '0002-triage': triage,
  '0003-analytics': analytics,
  '0004-jobs': jobs,
  '0005-diagnostics': diagnostics,
  '0006-list': list,
  '0007-overview': overview,
  '0008-insight': insight,
  '0009-sums': sums,
  '0010-counts': counts,
  '0011-notifications': notifications,
  '0012-attention': attention,
  '0013-swallowed': swallowed,
  '0014-processes': processes,
  '0015-counted': counted,
  '0016-source-maps': sourceMaps,
  '0017-reported-events': reportedEvents,
  '0018-map-sources': mapSources,
  '0019-search-history': searchHistory,
  '0021-cascade-chance': cascadeChance,
  '0022-client-errors': clientErrors,
  '0023-cascade-coverage': cascadeCoverage,
  '0024-shown-occurrence': shownOccurrence,
}
