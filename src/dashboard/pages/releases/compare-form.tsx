import type { ReleaseChanges } from '../../../analytics/releases/release-changes.js'
import type { Rendered, Visit } from '../../define.js'

/** Selects the release to compare with. */
export function CompareForm({
  changes: { before_version, comparable_versions },
  visit,
}: {
  changes: ReleaseChanges
  visit: Visit
}): Rendered {
  if (comparable_versions.length === 0) return null
  const otherParameters = [...visit.query].filter(([name]) => name !== 'compare_with')
  // The list omits very old releases.
  const isListed = before_version === null || comparable_versions.includes(before_version)
  const versions = isListed ? comparable_versions : [...comparable_versions, before_version]
  return (
    <form class="compare-form" action={`${visit.base}${visit.path}`}>
      {otherParameters.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <label>
        <span>Compare with</span>
        <select name="compare_with">
          {before_version === null && <option value="">Select a release</option>}
          {versions.map((version) => (
            <option value={version} selected={version === before_version}>
              {version}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Compare</button>
    </form>
  )
}
