import { errorChanges } from '../../../triage/queries/error-changes.js'
import { defineFeed } from '../../define.js'

/** What changed in a list since it was loaded, so that it can follow without loading anew. */
export const changes = defineFeed({
  path: '/errors/changes',
  text: 'What changed in a list since a given time',
  parameters: errorChanges.input,
  load: (context, question) => errorChanges.run(context, question),
})
