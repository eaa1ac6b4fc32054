package lsp

import "encoding/json"

// The types of the protocol that are used, by their names in its specification.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type lspRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string   `json:"uri"`
	Range lspRange `json:"range"`
}

type textDocument struct {
	URI        string `json:"uri"`
	LanguageID string `json:"languageId"`
	Version    int    `json:"version"`
	Text       string `json:"text"`
}

type textDocumentPosition struct {
	TextDocument textDocument `json:"textDocument"`
	Position     position     `json:"position"`
}

func (p textDocumentPosition) uri() string { return p.TextDocument.URI }

type initializeParams struct {
	Capabilities struct {
		General struct {
			PositionEncodings []string `json:"positionEncodings"`
		} `json:"general"`
		Window struct {
			WorkDoneProgress bool `json:"workDoneProgress"`
		} `json:"window"`
		Workspace struct {
			CodeLens struct {
				RefreshSupport bool `json:"refreshSupport"`
			} `json:"codeLens"`
		} `json:"workspace"`
	} `json:"capabilities"`
	InitializationOptions struct {
		// OnChange says whether a document is checked while it is edited; true if absent.
		OnChange *bool `json:"onChange"`
		// Delay is how long after the last edit, in milliseconds; DefaultDelay if absent.
		Delay *int `json:"delay"`
	} `json:"initializationOptions"`
}

type diagnostic struct {
	Range              lspRange         `json:"range"`
	Severity           int              `json:"severity"`
	Code               string           `json:"code,omitempty"`
	CodeDescription    *codeDescription `json:"codeDescription,omitempty"`
	Source             string           `json:"source"`
	Message            string           `json:"message"`
	RelatedInformation []related        `json:"relatedInformation,omitempty"`
	Data               json.RawMessage  `json:"data,omitempty"`
}

type codeDescription struct {
	Href string `json:"href"`
}

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type publishDiagnostics struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type didChange struct {
	TextDocument   textDocument `json:"textDocument"`
	ContentChanges []struct {
		Range *lspRange `json:"range"`
		Text  string    `json:"text"`
	} `json:"contentChanges"`
}

func (p didChange) uri() string { return p.TextDocument.URI }

type hover struct {
	Contents markup    `json:"contents"`
	Range    *lspRange `json:"range,omitempty"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitempty"`
}

type codeLens struct {
	Range   lspRange `json:"range"`
	Command command  `json:"command"`
}

type executeCommand struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}

type codeActionParams struct {
	TextDocument textDocument `json:"textDocument"`
	Range        lspRange     `json:"range"`
}

type textEdit struct {
	Range   lspRange `json:"range"`
	NewText string   `json:"newText"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type codeAction struct {
	Title       string       `json:"title"`
	Kind        string       `json:"kind"`
	Diagnostics []diagnostic `json:"diagnostics,omitempty"`
	IsPreferred bool         `json:"isPreferred,omitempty"`

	// One of the two: what to change, or what to ask the server for.
	Edit    *workspaceEdit `json:"edit,omitempty"`
	Command *command       `json:"command,omitempty"`
}

type progressParams struct {
	Token string `json:"token"`
	Value any    `json:"value"`
}

type progressValue struct {
	Kind        string `json:"kind"`
	Title       string `json:"title,omitempty"`
	Message     string `json:"message,omitempty"`
	Cancellable bool   `json:"cancellable,omitempty"`
}

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
