import { definePage, type Visit } from '../../dashboard/define.js'
import { PageHead } from '../../dashboard/ui/page-head.js'
import { StoredRange } from '../../dashboard/ui/stored-range.js'
import { formatCount } from '../../dashboard/ui/time.js'
import { formatPercent } from '../../dashboard/ui/units.js'
import { daysInput } from '../hourly/days.js'
import { type SourceLines, sourcesOf } from '../source/source-code.js'
import { LISTED_LOCATIONS, type SwallowedExceptions, type SwallowingLocation, swallowedExceptions } from './query.js'
import { swallowedResponse } from './response.js'
import { NotCounting, NothingSwallowed } from './swallowed-nothing.js'
import { SwallowingPlace } from './swallowing-place.js'

interface Shown {
  data: SwallowedExceptions
  /** The code of the handler that swallows most, for the first of the places. */
  sources: readonly (SourceLines | null)[]
}

/** Places in the code that catch exceptions and tell nobody. */
export const swallowedExceptionsPage = definePage({
  path: '/errors/swallowed_exceptions',
  text: 'Swallowed exceptions',
  parameters: daysInput,
  async load(context, parameters): Promise<Shown> {
    const data = await swallowedExceptions.run(context, parameters)
    return { data, sources: await sourcesOf(context, data.locations.map(placeOf)) }
  },
  response: swallowedResponse,
  title: ({ data: { total_count } }) =>
    total_count > 0 ? `(${total_count}) Swallowed exceptions` : 'Swallowed exceptions',
  json: ({ data }) => data,
  view: ({ data, sources }, visit) => (
    <>
      <PageHead
        title="Swallowed exceptions"
        context={`Places where more than ${formatPercent(data.threshold)} of what was raised was caught and never reported.`}
      >
        <StoredRange days={data.days} visit={visit} />
      </PageHead>
      {data.locations.length === 0 ? (
        <NothingSwallowed data={data} />
      ) : (
        <>
          <NotCounting data={data} />
          <Places data={data} sources={sources} visit={visit} />
        </>
      )}
    </>
  ),
})

export const pages = [swallowedExceptionsPage]
export const navigation = {
  label: 'Swallowed',
  icon: 'M3 8a5 5 0 1 0 10 0A5 5 0 1 0 3 8ZM5.8 10.2l4.4-4.4',
}

function placeOf({ handlers: [handler] }: SwallowingLocation): { file: string | null; line_number: number | null } {
  const [, file, line] = /^(.+):(\d{1,9}):\d{1,9}$/.exec(handler?.rescue_location ?? '') ?? []
  return { file: file ?? null, line_number: line === undefined ? null : Number(line) }
}

function Places({ data, sources, visit }: Shown & { visit: Visit }) {
  const { totals, total_count } = data
  return (
    <section class="stack" aria-label="Places">
      <p class="muted">
        {`${formatCount(totals.raise_count)} were raised in ${placesOf(totals.places)}: ${formatCount(totals.rescue_count)} swallowed, ${formatCount(totals.reported_count)} reported, ${formatCount(totals.vanished_count)} vanished.`}
      </p>
      <ol class="records">
        {data.locations.map((location, i) => (
          <SwallowingPlace location={location} source={sources[i] ?? null} visit={visit} />
        ))}
      </ol>
      {total_count > LISTED_LOCATIONS && (
        <p class="muted">{`The ${LISTED_LOCATIONS} places that swallow most, of ${formatCount(total_count)}.`}</p>
      )}
    </section>
  )
}

function placesOf(count: number): string {
  return count === 1 ? 'one place' : `${formatCount(count)} places`
}
