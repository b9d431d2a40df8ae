import { ErrorChanges, errorChanges } from '../../../triage/queries/error-changes.js'
import { defineFeed } from '../../define.js'

/** Changes of a list since a given time, for live updates. */
export const changes = defineFeed({
  path: '/errors/changes',
  text: 'Changes of a list since a given time',
  role: 'viewer',
  parameters: errorChanges.input,
  response: ErrorChanges,
  load: (context, input) => errorChanges.run(context, input),
})
