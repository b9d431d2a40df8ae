import { defineDiagnostic } from '../define.js'
import { sourceOptions } from './options.js'

/** Source code and git history of the frames on the error page. */
export const source = defineDiagnostic({ name: 'source', options: sourceOptions, needs: [] })
