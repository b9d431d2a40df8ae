import { correlationAnswer, platformComparisonAnswer } from './answers/comparisons.js'
import { changesAnswer, errorAnswer, errorsAnswer } from './answers/errors.js'
import { analyticsAnswer, overviewAnswer } from './answers/insight.js'
import { releasesAnswer } from './answers/releases.js'
import { healthAnswer, notificationsAnswer, settingsAnswer } from './answers/running.js'
import { anyObject, type Schema } from './schema.js'

/** Response schemas by path. */
// biome-ignore lint/suspicious/noExplicitAny: each schema has its own type.
export const ANSWERS: Readonly<Record<string, Schema<any>>> = {
  '/overview': overviewAnswer,
  '/errors': errorsAnswer,
  '/errors/{error_id}': errorAnswer,
  '/errors/changes': changesAnswer,
  '/errors/analytics': analyticsAnswer,
  '/errors/platform_comparison': platformComparisonAnswer,
  '/errors/correlation': correlationAnswer,
  '/releases': releasesAnswer,
  '/notifications': notificationsAnswer,
  '/settings': settingsAnswer,
  '/health': healthAnswer,
  '/openapi': anyObject,
}
