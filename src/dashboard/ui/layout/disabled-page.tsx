import type { Destination, Preview, Rendered, Visit } from '../../define.js'
import { CodeBox } from '../code-box.js'
import { InsightTable } from '../insight.js'
import { PageHead } from './page-head.js'

/** Shown instead of a page whose options are off: its benefit, sample data and the options that enable it. */
export function DisabledPage({
  destination: { label, needs = [] },
  preview,
  visit,
}: {
  destination: Destination
  preview: Preview
  visit: Visit
}): Rendered {
  const options = needs.filter((name) => !visit.switches[name])
  return (
    <>
      <PageHead title={label} context={preview.benefit}>
        <span class="badge">disabled</span>
      </PageHead>
      <div class="stack">
        <figure class="sample">
          <figcaption>Sample data</figcaption>
          <Sample {...preview.sample} />
        </figure>
        <section class="enable">
          <h2>Enable it</h2>
          <p>
            Add to <code>Tracker.configure</code> and restart:
          </p>
          <CodeBox id="enable-options">{options.map((name) => `${name}: true,`).join('\n')}</CodeBox>
          <p>Or set in the environment:</p>
          <CodeBox id="enable-variables">
            {options.map((name) => `FAULTBOARD_${name.toUpperCase()}=true`).join('\n')}
          </CodeBox>
          {preview.setup && (
            <>
              <p>{preview.setup.text}</p>
              <CodeBox id="enable-setup">{preview.setup.code}</CodeBox>
            </>
          )}
        </section>
      </div>
    </>
  )
}

function Sample({ columns, rows }: Preview['sample']): Rendered {
  const [first = '', ...others] = columns
  return (
    <InsightTable
      title="Sample data"
      rows={rows}
      columns={[
        { name: first, cell: ([value]) => value },
        ...others.map((name, i) => ({ name, cell: (row: readonly string[]) => row[i + 1] })),
      ]}
    />
  )
}
