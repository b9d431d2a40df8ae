import { defineDiagnostic } from '../define.js'
import { removeOldSourceMaps } from './remove-old-releases.js'

/** Source maps of clients, uploaded by release. */
export const sourceMaps = defineDiagnostic({
  name: 'source_maps',
  needs: [],
  retention: removeOldSourceMaps,
})
