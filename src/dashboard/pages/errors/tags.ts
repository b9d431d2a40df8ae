import { TagSuggestions, tagSuggestions } from '../../../triage/list/tag-suggestions.js'
import { defineFeed } from '../../define.js'

/** Suggestions for the search box. */
export const tags = defineFeed({
  path: '/errors/tags',
  text: 'Tags that start with a prefix, for suggestions',
  role: 'viewer',
  parameters: tagSuggestions.input,
  response: TagSuggestions,
  load: (context, input) => tagSuggestions.run(context, input),
})
