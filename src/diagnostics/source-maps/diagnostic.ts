import { lazyOperations } from '../../operation.js'
import { defineDiagnostic } from '../define.js'

const loadReleases = () => import('./releases.js')
const lazily = lazyOperations(loadReleases)
const lazilyStored = lazyOperations(() => import('./store-source-map.js'))

/** Stores the source maps of clients by release. */
export const sourceMaps = defineDiagnostic({
  name: 'source_maps',
  options: {},
  needs: [],
  commands: { StoreSourceMap: lazilyStored('storeSourceMap'), DeleteSourceMaps: lazily('deleteSourceMaps') },
  queries: { SourceMaps: lazily('listSourceMaps') },
  retention: async (context) => (await loadReleases()).deleteOldSourceMaps(context),
})
