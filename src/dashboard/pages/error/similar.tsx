import { SIMILAR_THRESHOLD, type SimilarError, similarErrors } from '../../../analytics/similar-errors.js'
import { How } from '../../ui/explanation.js'
import { formatShare } from '../../ui/units.js'
import { RelatedErrors } from './related-errors.js'
import type { RelatedPart } from './related-part.js'

const SHOWN = 5

/** Errors with mostly the same frames and words. */
export const similarPart: RelatedPart<SimilarError[]> = {
  name: 'similar_errors',
  title: 'Similar errors',
  async load(context, { id }, { application_id }) {
    if (!context.config.enable_similar_errors) return null
    const found = await similarErrors.run(context, {
      error_id: id,
      threshold: SIMILAR_THRESHOLD,
      limit: SHOWN,
      application_id: application_id ?? undefined,
    })
    return found.length > 0 ? found : null
  },
  view: (similar, visit) => (
    <>
      <RelatedErrors
        rows={similar.map(({ error, similarity }) => ({
          error,
          evidence: `${formatShare(Math.floor(similarity * 100) / 100)} alike`,
        }))}
        visit={visit}
      />
      <How>
        {`Both share at least ${formatShare(SIMILAR_THRESHOLD)} of all their own stack frames and message words.`}
      </How>
    </>
  ),
}
