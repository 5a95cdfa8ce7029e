/**
 * An element with its properties and children. Texts become text nodes, never markup; what is null or false is left
 * out. `on…` are listeners, `aria-…` and `data-…` attributes.
 */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value)
    else if (key in made && !key.includes('-')) made[key] = value
    else made.setAttribute(key, value)
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false))
  return made
}

/** A text whose `code` stands between backticks. */
export function prose(text) {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : element('code', {}, part)))
}
