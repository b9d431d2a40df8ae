import { defineDiagnostic } from '../define.js'
import { sourceOptions } from './options.js'

/** Shows source code and git history of frames on the error page. */
export const source = defineDiagnostic({ name: 'source', options: sourceOptions, needs: [] })
