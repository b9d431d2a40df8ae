import { boolean, integer } from '../../config/kinds.js'
import { row } from '../../config/options.js'

export const nPlusOneOptions = {
  detect_n_plus_one_queries: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Detects statements that one request or job runs repeatedly; requires enable_breadcrumbs and an instrumented driver.',
  }),
  n_plus_one_threshold: row<number>({
    group: 'diagnostics',
    kind: integer(2, 1000),
    default: 5,
    text: 'Executions of the same statement by one request or job before it counts as an N+1 query.',
  }),
}
