import { boolean } from '../../config/kinds.js'
import { row } from '../../config/options.js'

export const deprecationOptions = {
  enable_deprecation_tracking: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Counts deprecation warnings by code, message and location; requires enable_breadcrumbs.',
  }),
}
