// Tooltips, arrow keys and zoom by dragging for charts. Without this script, bars have native tooltips and links.
const MIN_DRAG_PX = 8

const DAY_MS = 86_400_000
// Fits on a phone.
const MAX_NARROW_LABELS = 5
const clockFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const utcClockFormat = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZone: 'UTC',
})
const shortDateFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const longDateFormat = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
})
const viewerZone = Intl.DateTimeFormat().resolvedOptions().timeZone

enableCharts()
document.addEventListener('content-replaced', enableCharts)

function enableCharts() {
  showLocalTimes()
  for (const chart of document.querySelectorAll('[data-chart]')) {
    const bars = [...chart.querySelectorAll('[data-bar]')]
    const area = chart.parentElement
    for (const bar of area.querySelectorAll('[data-bar]')) enableTooltip(area, bar)
    enableArrowKeys(chart, bars)
    enableDrag(chart, area, bars)
  }
}

// Shows the times of bars shorter than a day in the viewer's time zone, formatted as on the server.
function showLocalTimes() {
  for (const chart of document.querySelectorAll('[data-times]')) {
    const [from, step, interval] = chart.dataset.times.split(' ').map(Number)
    const bars = [...chart.querySelectorAll('[data-chart] > [data-bar]')]
    const rows = chart.querySelectorAll('tbody th')
    const starts = bars.map((_, index) => from + index * step)
    for (const [index, start] of starts.entries()) {
      const name = `${localSpan(start, start + step)} ${viewerZone}`
      nameBar(bars[index], name, `${clockSpan(utcClockFormat, start, start + step)} UTC`)
      rows[index].textContent = name
    }
    chart.querySelector('.x-axis').replaceChildren(...localTicks(starts, step, interval))
    delete chart.dataset.times
  }
  for (const element of document.querySelectorAll('[data-span]')) {
    element.textContent = localSpan(...element.dataset.span.split(' ').map(Number))
  }
  for (const element of document.querySelectorAll('[data-zone]')) element.textContent = viewerZone
}

function nameBar(bar, name, utc) {
  const title = bar.querySelector('title')
  const [first, ...lines] = title.textContent.split('\n')
  const isCurrent = first.endsWith(', in progress')
  const heading = isCurrent ? `${name}, in progress` : name
  title.textContent = [heading, ...(viewerZone === 'UTC' ? [] : [utc]), ...lines].join('\n')
  if (bar.ariaLabel) bar.ariaLabel = bar.ariaLabel.replace(first, heading)
}

function localSpan(from, to) {
  return `${longDateFormat.format(from)}, ${clockSpan(clockFormat, from, to)}`
}

function clockSpan(format, from, to) {
  return `${format.format(from)}\u2013${format.format(to)}`
}

// Returns labels at round local times, like `timeAxis` on the server.
function localTicks(starts, step, interval) {
  const clock = (time) => time - new Date(time).getTimezoneOffset() * 60_000
  const labels = starts.flatMap((start, index) => {
    const previous = index === 0 ? clock(start) - step : clock(starts[index - 1])
    const number = Math.floor(clock(start) / interval)
    if (number <= Math.floor(previous / interval)) return []
    const text = document.createElementNS('http://www.w3.org/2000/svg', 'text')
    text.setAttribute('x', `${((index + 0.5) / starts.length) * 100}%`)
    text.setAttribute('y', '12')
    if (number % 2 !== 0) text.classList.add('minor')
    text.textContent = (interval < DAY_MS ? clockFormat : shortDateFormat).format(start)
    return text
  })
  if (labels.length <= MAX_NARROW_LABELS) for (const label of labels) label.classList.remove('minor')
  return labels
}

function enableTooltip(area, bar) {
  const title = bar.querySelector('title')
  const text = title.textContent
  // The native tooltip would appear a second later, above this tooltip.
  title.remove()
  // Replaces the title as the accessible name of a bar without a label.
  bar.ariaLabel ??= text
  let tooltip = null
  const hide = () => {
    tooltip?.remove()
    tooltip = null
  }
  const show = () => {
    if (tooltip) return
    tooltip = document.createElement('div')
    tooltip.className = 'chart-tooltip'
    // Hidden, because the accessible name of the bar contains the same text.
    tooltip.ariaHidden = 'true'
    tooltip.textContent = text
    area.append(tooltip)
    const [box, frame] = [(bar.querySelector('.hit') ?? bar).getBoundingClientRect(), area.getBoundingClientRect()]
    const center = box.left + box.width / 2 - frame.left
    const left = Math.min(Math.max(0, center - tooltip.offsetWidth / 2), frame.width - tooltip.offsetWidth)
    tooltip.style.left = `${left}px`
    tooltip.style.bottom = 'calc(100% + 4px)'
  }
  bar.addEventListener('pointerenter', show)
  bar.addEventListener('pointerleave', hide)
  bar.addEventListener('focus', show)
  bar.addEventListener('blur', hide)
  bar.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') hide()
  })
}

// Gives each chart one tab stop: the newest bar, later the last focused bar.
function enableArrowKeys(chart, bars) {
  let current = bars.length - 1
  for (const [index, bar] of bars.entries()) {
    bar.setAttribute('tabindex', index === current ? '0' : '-1')
    bar.addEventListener('focus', () => {
      bars[current].setAttribute('tabindex', '-1')
      bar.setAttribute('tabindex', '0')
      current = index
    })
  }
  chart.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const target = {
      ArrowLeft: current - 1,
      ArrowRight: current + 1,
      Home: 0,
      End: bars.length - 1,
    }[event.key]
    if (target === undefined) return
    event.preventDefault()
    bars[target]?.focus()
  })
}

function zoomLink(bar) {
  return bar.dataset.zoom ?? bar.getAttribute('href')
}

function isZoom(link) {
  return link !== null && new URL(link, location.href).searchParams.has('from')
}

// Selects the bars between the start and the end of a drag.
function enableDrag(chart, area, bars) {
  if (bars.length < 2 || !bars.every((bar) => isZoom(zoomLink(bar)))) return
  let drag = null
  const barAt = (x) => {
    const { left, width } = chart.getBoundingClientRect()
    return Math.min(bars.length - 1, Math.max(0, Math.floor(((x - left) / width) * bars.length)))
  }
  const selected = (event) => [drag.x, event.clientX].sort((a, b) => a - b).map(barAt)

  const endDrag = () => {
    drag?.box?.remove()
    drag = null
  }

  // Prevents the native drag and drop of links.
  chart.addEventListener('dragstart', (event) => event.preventDefault())
  // Horizontal swipes select bars. Vertical swipes scroll the page.
  chart.style.touchAction = 'pan-y pinch-zoom'
  chart.addEventListener('pointerdown', (event) => {
    if (event.button === 0 && event.isPrimary) drag = { x: event.clientX, box: null }
  })
  chart.addEventListener('pointermove', (event) => {
    // The button was released outside of the window.
    if (event.buttons === 0) endDrag()
    if (!drag || (!drag.box && Math.abs(event.clientX - drag.x) < MIN_DRAG_PX)) return
    if (!drag.box) {
      // Continues the drag beyond the edge of the chart. Starts only now, because a click on a bar must reach its link.
      chart.setPointerCapture(event.pointerId)
      drag.box = document.createElement('div')
      drag.box.className = 'chart-selection'
      area.append(drag.box)
    }
    const [first, last] = selected(event)
    drag.box.style.left = `${(first / bars.length) * 100}%`
    drag.box.style.width = `${((last - first + 1) / bars.length) * 100}%`
  })
  chart.addEventListener('pointerup', (event) => {
    if (drag?.box) {
      const [first, last] = selected(event).map((index) => new URL(zoomLink(bars[index]), location.href))
      first.searchParams.set('to', last.searchParams.get('to'))
      // Suppresses the click on the bar at the end of the drag.
      window.addEventListener('click', (click) => click.preventDefault(), { capture: true, once: true })
      location.assign(first)
    }
    endDrag()
  })
  chart.addEventListener('pointercancel', endDrag)
}
