import { CrumbWatch } from './breadcrumbs/crumb-watch.js'
import type { CaptureContext } from './capture-context.js'
import { Deprecations } from './deprecations/deprecations.js'
import { NPlusOne } from './repeats/n-plus-one.js'
import { RequestGuard } from './request-guard/request-guard.js'

/** What is added up over many requests, as far as the configuration asks for it. All of it needs the breadcrumbs. */
export function countIfAsked(context: CaptureContext): void {
  const { config, breadcrumbs } = context
  if (!config.enable_breadcrumbs) return
  if (config.enable_request_guard_tracking) context.request_guard = new RequestGuard(context)
  if (config.detect_n_plus_one_queries) context.n_plus_one = new NPlusOne(context)
  if (config.enable_deprecation_tracking) context.deprecations = new Deprecations(context)
  if (context.n_plus_one || context.deprecations) {
    breadcrumbs.watch = new CrumbWatch(context)
  }
}
