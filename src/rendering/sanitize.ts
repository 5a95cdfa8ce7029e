import type { Root } from 'hast'
import { defaultSchema, sanitize, type Schema } from 'hast-util-sanitize'
import { idPrefix } from './filters/links.ts'

const classes = (...names: (string | RegExp)[]): [string, ...(string | RegExp)[]] => ['className', ...names]

/**
 * What may be in rendered text, and nothing else: no script, no style but a colour, no form but boxes that are ticked, no frame, no
 * foreign markup, no address that runs. Based on the list of the library, which is the one that large hosts use.
 */
const schema: Schema = {
  ...defaultSchema,
  tagNames: [
    ...(defaultSchema.tagNames ?? []),
    'abbr',
    'audio',
    'caption',
    'cite',
    'col',
    'colgroup',
    'figcaption',
    'figure',
    'mark',
    'small',
    'u',
    'video',
    'wbr',
  ],
  // Whatever stands in these is no text.
  strip: [
    'script',
    'style',
    'title',
    'textarea',
    'iframe',
    'noscript',
    'noembed',
    'noframes',
    'template',
    'xmp',
    'svg',
    'math',
    'object',
    'plaintext',
  ],
  clobber: ['ariaDescribedBy', 'ariaLabelledBy', 'id', 'name'],
  clobberPrefix: idPrefix,
  protocols: {
    cite: ['http', 'https'],
    href: ['http', 'https', 'mailto', 'irc', 'ircs', 'xmpp', 'tel', 'ftp', 'git', 'ssh', 'smb'],
    src: ['http', 'https'],
    longDesc: [],
    dataCanonicalSrc: ['http', 'https'],
  },
  attributes: {
    ...defaultSchema.attributes,
    a: [
      'href',
      'title',
      'ariaLabel',
      'dataReferenceType',
      ['rel', 'nofollow', 'noreferrer', 'noopener'],
      classes('gfm', /^gfm-[a-z_-]+$/, 'anchor', 'footnote-backref', 'footnote-ref', 'bare'),
    ],
    audio: ['src', 'controls', 'preload', 'title'],
    code: [classes(/^language-[\w+#.-]+$/, 'math'), ['dataMathStyle', 'inline', 'display']],
    div: [
      'align',
      classes(
        /^markdown-alert(?:-(?:note|tip|important|caution|warning))?$/,
        /^(?:paragraph|sect[1-6]|sectionbody|ulist|olist|dlist|colist|listingblock|literalblock|exampleblock|sidebarblock|quoteblock|verseblock|imageblock|videoblock|audioblock|tableblock|admonitionblock|stemblock|openblock|content|title|attribution|toc|toctitle|details)$/,
        /^(?:note|tip|important|caution|warning|arabic|loweralpha|upperalpha|lowerroman|upperroman|checklist)$/,
      ),
    ],
    img: [
      'src',
      'alt',
      'title',
      'width',
      'height',
      'align',
      'dataCanonicalSrc',
      'dataDiagram',
      ['dataDiagramSrc', /^data:text\/plain;base64,[\w+/=]*$/],
      'hidden',
      classes('plantuml', 'js-render-kroki', 'emoji'),
    ],
    input: [['disabled', true], ['type', 'checkbox'], 'checked', classes('task-list-item-checkbox')],
    li: [classes('task-list-item', 'inapplicable', 'footnote-item')],
    ol: [
      'start',
      'type',
      'reversed',
      classes('task-list', 'footnotes-list', /^(?:arabic|loweralpha|upperalpha|lowerroman|upperroman)$/),
    ],
    p: ['align', classes('markdown-alert-title', 'quoteblock')],
    pre: ['lang', classes('code', 'highlight', 'math', 'content')],
    section: [classes('footnotes')],
    hr: [classes('footnotes-sep')],
    span: [
      classes(
        /^hljs-[\w-]+$/,
        /^[a-z]+_$/,
        /^org-(?:todo|done|tag)$/,
        'image',
        'kbd',
        'underline',
        'line-through',
        'gfm-color_chip',
        'idiff',
        'left',
        'right',
        'addition',
        'deletion',
      ),
      ['style', /^background-color: [\w#(),.% ]{4,60};$/],
    ],
    // Other sources of a picture would come past the proxy.
    source: [],
    sup: [classes('footnote-ref', 'footnote')],
    table: [classes('tableblock', /^(?:frame|grid)-\w+$/, 'stretch')],
    td: [
      'align',
      'colSpan',
      'rowSpan',
      classes(/^[hv]align-\w+$/, 'tableblock', 'content', 'hdlist1', 'hdlist2'),
    ],
    th: ['align', 'colSpan', 'rowSpan', 'scope', classes(/^[hv]align-\w+$/, 'tableblock')],
    ul: [classes('task-list', 'section-nav', /^sectlevel[1-5]$/, 'checklist')],
    video: ['src', 'controls', 'preload', 'title', 'width', 'height'],
    '*': ['id', 'title', 'dir', ['lang', /^[\w-]{1,20}$/]],
  },
}

/** The last stage: whatever came before, only what is on the list leaves. */
export function sanitized(root: Root): Root {
  const clean = sanitize(root, schema)
  return clean.type === 'root' ? clean : { type: 'root', children: clean.type === 'doctype' ? [] : [clean] }
}
