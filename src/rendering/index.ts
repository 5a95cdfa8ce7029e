/** Texts to safe HTML, in threads of their own. Knows no users, no projects and no repositories. */
export { Renderer, type RenderHelp } from './renderer.ts'
export {
  candidateKey,
  languages,
  type Candidate,
  type Language,
  type LinkPlaces,
  type ReferenceKind,
  type RenderContext,
  type RenderInput,
  type RenderSettings,
  type Resolved,
  type ResolvedReference,
} from './types.ts'
