import { defineDiagnostic } from '../define.js'
import { deleteOldSourceMaps, deleteSourceMaps, listSourceMaps } from './releases.js'
import { storeSourceMap } from './store-source-map.js'

/** Stores the source maps of clients by release. */
export const sourceMaps = defineDiagnostic({
  name: 'source_maps',
  options: {},
  needs: [],
  commands: { StoreSourceMap: storeSourceMap, DeleteSourceMaps: deleteSourceMaps },
  queries: { SourceMaps: listSourceMaps },
  retention: deleteOldSourceMaps,
})
