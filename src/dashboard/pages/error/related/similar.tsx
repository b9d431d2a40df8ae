import { SIMILAR_THRESHOLD, SimilarError, similarErrors } from '../../../../analytics/similar-errors.js'
import * as r from '../../../../model/result.js'
import { Explanation } from '../../../ui/explanation.js'
import { formatPercent } from '../../../ui/units.js'
import { RelatedErrors } from './related-errors.js'
import { type RelatedPart, relatedScope } from './related-part.js'

const MAX_SHOWN_ERRORS = 5

/** Errors with similar stack frames and message words. */
export const similarPart: RelatedPart<SimilarError[]> = {
  name: 'similar_errors',
  title: 'Similar errors',
  response: r.list(SimilarError),
  async load(context, record, visit) {
    if (!context.config.enable_similar_errors) return null
    const found = await similarErrors.run(context, {
      error_id: record.id,
      threshold: SIMILAR_THRESHOLD,
      limit: MAX_SHOWN_ERRORS,
      ...relatedScope(visit),
    })
    return found.length > 0 ? found : null
  },
  view: (similar, visit) => (
    <>
      <RelatedErrors
        rows={similar.map(({ error, similarity }) => ({
          error,
          evidence: `${formatPercent(Math.floor(similarity * 100) / 100)} similar`,
        }))}
        visit={visit}
      />
      <Explanation>
        {`Errors that share at least ${formatPercent(SIMILAR_THRESHOLD)} of their in-app stack frames and message words.`}
      </Explanation>
    </>
  ),
}
