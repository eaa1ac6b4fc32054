package lsp

import "encoding/json"

// The types of the protocol that heddle uses. Fields and most names are those of the LSP 3.17
// specification; fields that heddle neither reads nor writes are omitted.

// position is a place in a document. Line and Character start at 0; Character counts units of the
// negotiated encoding.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// lspRange is a half-open range of a document.
type lspRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// location is a range in a document.
type location struct {
	URI   string   `json:"uri"`
	Range lspRange `json:"range"`
}

// textDocument combines the items that identify a document; which fields are set depends on the
// method.
type textDocument struct {
	URI        string `json:"uri"`
	LanguageID string `json:"languageId"`
	Version    int    `json:"version"`
	Text       string `json:"text"`
}

// textDocumentPosition is the parameter of requests about a document or a place in it.
type textDocumentPosition struct {
	TextDocument textDocument `json:"textDocument"`
	Position     position     `json:"position"`
}

// uri implements the constraint of onDocument.
func (p textDocumentPosition) uri() string { return p.TextDocument.URI }

// initializeParams holds the client capabilities and options that the server uses.
type initializeParams struct {
	Capabilities struct {
		General struct {
			PositionEncodings []string `json:"positionEncodings"`
		} `json:"general"`
		Window struct {
			WorkDoneProgress bool `json:"workDoneProgress"`
		} `json:"window"`
		Workspace struct {
			WorkspaceEdit struct {
				DocumentChanges bool `json:"documentChanges"`
			} `json:"workspaceEdit"`
			CodeLens struct {
				RefreshSupport bool `json:"refreshSupport"`
			} `json:"codeLens"`
		} `json:"workspace"`
	} `json:"capabilities"`
	InitializationOptions struct {
		// OnChange: check documents while they are edited. nil means true.
		OnChange *bool `json:"onChange"`
		// Delay is the time from the last edit to the check, in milliseconds. nil means DefaultDelay.
		Delay *int `json:"delay"`
	} `json:"initializationOptions"`
}

// diagnostic is a finding or a verdict as the client shows it. Data holds the fingerprint of a
// finding.
type diagnostic struct {
	Range              lspRange        `json:"range"`
	Severity           int             `json:"severity"`
	Code               string          `json:"code,omitempty"`
	CodeDescription    *codePage       `json:"codeDescription,omitempty"`
	Source             string          `json:"source"`
	Message            string          `json:"message"`
	RelatedInformation []related       `json:"relatedInformation,omitempty"`
	Data               json.RawMessage `json:"data,omitempty"`
}

// codePage is where a code is explained (3.16, CodeDescription).
type codePage struct {
	Href string `json:"href"`
}

// related is a further place of a finding.
type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

// publishDiagnostics replaces all diagnostics of a document.
type publishDiagnostics struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

// didChange is an edit of a document. A change without a range replaces the entire text.
type didChange struct {
	TextDocument   textDocument `json:"textDocument"`
	ContentChanges []struct {
		Range *lspRange `json:"range"`
		Text  string    `json:"text"`
	} `json:"contentChanges"`
}

// uri implements the constraint of onDocument.
func (p didChange) uri() string { return p.TextDocument.URI }

// hover is the answer to a hover request.
type hover struct {
	Contents markup    `json:"contents"`
	Range    *lspRange `json:"range,omitempty"`
}

// markup is text; Kind is "markdown" or "plaintext".
type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// command is a command of the server that the client can offer to the user.
type command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitempty"`
}

// codeLens is a command shown above a line.
type codeLens struct {
	Range   lspRange `json:"range"`
	Command command  `json:"command"`
}

// executeCommand asks the server to run a command.
type executeCommand struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}

// codeActionParams asks for the code actions of a range.
type codeActionParams struct {
	TextDocument textDocument `json:"textDocument"`
	Range        lspRange     `json:"range"`
}

// textEdit replaces the text of a range.
type textEdit struct {
	Range   lspRange `json:"range"`
	NewText string   `json:"newText"`
}

// workspaceEdit holds edits by the URI of a document, or with the versions of the documents for
// clients that compare them.
type workspaceEdit struct {
	Changes         map[string][]textEdit `json:"changes,omitempty"`
	DocumentChanges []documentEdit        `json:"documentChanges,omitempty"`
}

// documentEdit holds edits of one version of a document; nil: of the file, which is not open.
type documentEdit struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version *int   `json:"version"`
	} `json:"textDocument"`
	Edits []textEdit `json:"edits"`
}

// codeAction is a quick fix or a repair command that the client offers for a diagnostic.
type codeAction struct {
	Title       string       `json:"title"`
	Kind        string       `json:"kind"`
	Diagnostics []diagnostic `json:"diagnostics,omitempty"`
	IsPreferred bool         `json:"isPreferred,omitempty"`

	// Exactly one of the two: an edit to apply, or a command to send to the server.
	Edit    *workspaceEdit `json:"edit,omitempty"`
	Command *command       `json:"command,omitempty"`
}

// progressParams sends a value for a progress token.
type progressParams struct {
	Token string `json:"token"`
	Value any    `json:"value"`
}

// progressValue begins, updates or ends progress; Kind is "begin", "report" or "end".
type progressValue struct {
	Kind        string `json:"kind"`
	Title       string `json:"title,omitempty"`
	Message     string `json:"message,omitempty"`
	Cancellable bool   `json:"cancellable,omitempty"`
}

// showMessage shows a message; Type is one of the severities below.
type showMessage struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

const (
	severityError = iota + 1
	severityWarning
	severityInformation
	severityHint
)
