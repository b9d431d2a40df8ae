import { defineDiagnostic } from '../define.js'
import { deleteSourceMaps } from './delete-source-maps.js'
import { listSourceMaps } from './list-source-maps.js'
import { removeOldSourceMaps } from './remove-old-releases.js'
import { storeSourceMap } from './store-source-map.js'

/** Source maps of clients, uploaded by release. */
export const sourceMaps = defineDiagnostic({
  name: 'source_maps',
  options: {},
  needs: [],
  commands: { StoreSourceMap: storeSourceMap, DeleteSourceMaps: deleteSourceMaps },
  queries: { SourceMaps: listSourceMaps },
  retention: removeOldSourceMaps,
})
