"""Exported chats: each message of an assistant is a separate text.

An export is recognised by its structure, with a small adapter for each program. Messages of
assistants are examined; those of users, tools and the like are separate parts, and are listed as
left out. If no assistant takes part (Telegram, Slack, Teams), each message of sufficient length is
examined.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from pura.base.errors import InputError
from pura.documents.encodings import DecodedText, decode
from pura.documents.extraction import ALTERNATIVE, MAIN, Extract
from pura.documents.formats import FORMATS, MAX_PARTS, ReadOptions, damaged, over
from pura.documents.readers.blocks import MIN_WORDS
from pura.documents.readers.html import read_page
from pura.record.left_out import LeftOutKind
from pura.record.transforms import Transform

ASSISTANT: Final = "assistant"
PERSON: Final = "person"
"""Role of the participants of a chat without an assistant."""
_ASSISTANTS: Final = frozenset(
    {"assistant", "model", "gpt", "chatgpt", "bot", "ai", "bard", "gemini", "claude"}
)
_USERS: Final = frozenset({"user", "human"})
_MAX_NAME: Final = 60  # characters of a conversation's title or a person's name in a part's name
_Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ChatMessage:
    """One message.

    Attributes:
        role: ``assistant``, ``user``, ``person`` or the name in the export.
        text: The text, joined if the export stores it in pieces.
        time: Time of writing, as ISO 8601 or as in the export; empty if the export has none.
        author: Name of a person; empty for other roles.
        pieces: Number of pieces that were joined.
    """

    role: str
    text: str
    time: str = ""
    author: str = ""
    pieces: int = 1


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """Messages in their order.

    Attributes:
        messages: In the order in which they were written.
        title: Title in the export; empty if it has none.
    """

    messages: list[ChatMessage]
    title: str = ""


def chat_extracts(json_value: Any, decoded: DecodedText, row: str = "") -> list[Extract] | None:
    """Return the messages of an exported chat as texts.

    Args:
        json_value: A JSON value.
        decoded: How the file's bytes became text.
        row: The name of the record that holds the chat; empty where the file is one chat.

    Returns:
        None where the value has the shape of no export.
    """
    conversations = conversations_of(json_value)
    return None if conversations is None else _extracts(conversations, decoded, row)


def conversations_of(json_value: Any) -> list[Conversation] | None:
    """Return the conversations of an exported chat; None if the format is not recognised."""
    for adapter in _ADAPTERS:
        conversations = adapter(json_value)
        if conversations and any(conversation.messages for conversation in conversations):
            return conversations
    return None


def _extracts(
    conversations: list[Conversation], decoded: DecodedText, row: str = ""
) -> list[Extract]:
    extracts: list[Extract] = []
    for number, conversation in enumerate(conversations, 1):
        title = " ".join(conversation.title.split())[:_MAX_NAME]
        chat = f"chat {number} {title}".rstrip() if len(conversations) > 1 else ""
        label = ", ".join(name for name in (row, chat) if name)
        extracts += _conversation_extracts(conversation, label, decoded)
        if len(extracts) > MAX_PARTS:
            raise over("limit.texts", most=MAX_PARTS)
    return extracts


def _conversation_extracts(
    conversation: Conversation, label: str, decoded: DecodedText
) -> list[Extract]:
    messages = [message for message in conversation.messages if message.text.strip()]
    prefix = f"{label}, " if label else ""
    is_alone = len(messages) == 1
    extracts: list[Extract] = []
    for number, message in enumerate(messages, 1):
        sender = " ".join(message.author.split())[:_MAX_NAME] or message.role
        examined = message.role == ASSISTANT or (
            message.role == PERSON and len(message.text.split()) >= MIN_WORDS
        )
        joined = (Transform(name="pieces-joined", count=message.pieces),)
        extracts.append(
            Extract.of(
                decoded,
                message.text,
                label if is_alone else f"{prefix}message {number} ({sender})",
                role=MAIN if examined else ALTERNATIVE,
                kind=None if examined else LeftOutKind.MESSAGE,
                location=message.time,
                group=label,
                transforms=joined if message.pieces > 1 else (),
            )
        )
    if not any(extract.role == MAIN for extract in extracts):
        # No assistant is known, so every message is examined.
        return [replace(extract, role=MAIN, kind=None) for extract in extracts]
    return extracts


def _role(name: object) -> str:
    """Return the standard name of a role."""
    if not isinstance(name, str):
        return "user"
    lowered = name.lower()
    if lowered in _ASSISTANTS:
        return ASSISTANT
    return "user" if lowered in _USERS else (lowered[:_MAX_NAME] or "user")


def _text(content: Any) -> str:
    """Return the text of a message's content: a string, a piece, or a list of pieces."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(_text(piece) for piece in content)
    if isinstance(content, dict):
        for name in ("text", "content", "parts", "value", "thoughts"):
            if isinstance(content.get(name), str | list | dict):
                return _text(content[name])
    return ""


def _time(moment: object) -> str:
    """Return a time in seconds since 1970 as ISO 8601, and any other time unchanged."""
    if isinstance(moment, int | float) and not isinstance(moment, bool):
        try:
            return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
        except (OverflowError, OSError, ValueError):
            return ""
    return moment[:40] if isinstance(moment, str) else ""


def _dicts(json_value: object) -> list[_Json]:
    return (
        [entry for entry in json_value if isinstance(entry, dict)]
        if isinstance(json_value, list)
        else []
    )


_THOUGHT: Final = "thought"
"""Role of the reasoning before an answer, which is not part of the answer."""
_THOUGHTS: Final = ("thoughts", "reasoning_recap")


# ChatGPT: a tree of messages for each conversation, in which other answers are branches.


def _chatgpt(json_value: Any) -> list[Conversation] | None:
    exported = _dicts(json_value) if isinstance(json_value, list) else _dicts([json_value])
    conversations = [
        conversation for conversation in exported if isinstance(conversation.get("mapping"), dict)
    ]
    return [
        Conversation(
            messages=list(_tree(conversation["mapping"])), title=_text(conversation.get("title"))
        )
        for conversation in conversations
    ] or None


def _tree(mapping: _Json) -> Iterator[ChatMessage]:
    """Yield the messages of a tree, a parent before its children."""
    nodes = {name: node for name, node in mapping.items() if isinstance(node, dict)}
    roots = [name for name, node in nodes.items() if node.get("parent") not in nodes]
    stack, visited = roots[::-1], set[str]()
    while stack:
        name = stack.pop()
        if name in visited or name not in nodes:
            continue
        visited.add(name)
        children = nodes[name].get("children")
        if isinstance(children, list):
            stack += [child for child in reversed(children) if isinstance(child, str)]
        message = nodes[name].get("message")
        if isinstance(message, dict):
            author, content = message.get("author"), message.get("content")
            content = content if isinstance(content, dict) else {}
            parts = content.get("parts")
            role = _role(author.get("role") if isinstance(author, dict) else None)
            yield ChatMessage(
                role=_THOUGHT if content.get("content_type") in _THOUGHTS else role,
                text=_text(content),
                time=_time(message.get("create_time")),
                pieces=len(parts) if isinstance(parts, list) and parts else 1,
            )


# Claude


def _claude(json_value: Any) -> list[Conversation] | None:
    exported = _dicts(json_value) if isinstance(json_value, list) else _dicts([json_value])
    conversations = [
        conversation
        for conversation in exported
        if isinstance(conversation.get("chat_messages"), list)
    ]
    return [
        Conversation(
            messages=[
                message
                for exported_message in _dicts(conversation["chat_messages"])
                for message in _claude_messages(exported_message)
            ],
            title=_text(conversation.get("name")),
        )
        for conversation in conversations
    ] or None


def _claude_messages(message: _Json) -> Iterator[ChatMessage]:
    """Yield a message, and the texts of the files that are attached to it."""
    time = _time(message.get("created_at"))
    pieces = [piece for piece in _dicts(message.get("content")) if piece.get("type") == "text"]
    yield ChatMessage(
        role=_role(message.get("sender")),
        text=_text(pieces) or _text(message.get("text")),
        time=time,
        pieces=max(1, len(pieces)),
    )
    for attachment in _dicts(message.get("attachments")):
        yield ChatMessage(
            role="attachment", text=_text(attachment.get("extracted_content")), time=time
        )


# Gemini: the account's activity, or a prompt of AI Studio.


def _gemini(json_value: Any) -> list[Conversation] | None:
    if isinstance(json_value, dict) and isinstance(json_value.get("chunkedPrompt"), dict):
        chunks = _dicts(json_value["chunkedPrompt"].get("chunks"))
        return [
            Conversation(
                messages=[
                    ChatMessage(
                        role=_THOUGHT if chunk.get("isThought") else _role(chunk.get("role")),
                        text=_text(chunk.get("text")),
                        time=_time(chunk.get("createTime")),
                    )
                    for chunk in chunks
                ]
            )
        ]
    entries = [entry for entry in _dicts(json_value) if isinstance(entry.get("safeHtmlItem"), list)]
    conversations = []
    for entry in entries:
        answer = "\n\n".join(
            read_page(_text(piece.get("html"))).text for piece in _dicts(entry["safeHtmlItem"])
        )
        time = _time(entry.get("time"))
        messages = [
            ChatMessage(role="user", text=_text(entry.get("title")), time=time),
            ChatMessage(role=ASSISTANT, text=answer, time=time),
        ]
        conversations.append(Conversation(messages=messages))
    return conversations or None


# Telegram


def _telegram(json_value: Any) -> list[Conversation] | None:
    if not isinstance(json_value, dict):
        return None
    chats = json_value.get("chats")
    listed = _dicts(chats.get("list")) if isinstance(chats, dict) else [json_value]
    conversations = [
        Conversation(
            messages=[
                ChatMessage(
                    role=PERSON,
                    text=_text(message.get("text")),
                    time=_time(message.get("date")),
                    author=_text(message.get("from")),
                )
                for message in _dicts(chat["messages"])
                if message.get("type") == "message"
            ],
            title=_text(chat.get("name")),
        )
        for chat in listed
        if isinstance(chat.get("messages"), list)
        and any(
            "from_id" in message or "text_entities" in message
            for message in _dicts(chat["messages"])
        )
    ]
    return conversations or None


# Slack: a file holds the messages of a channel on one day.

_SLACK_LINK: Final = re.compile(r"<([^<>|]*)\|([^<>]*)>|<([^<>]*)>")


def _slack(json_value: Any) -> list[Conversation] | None:
    messages = [
        message
        for message in _dicts(json_value)
        if message.get("type") == "message" and isinstance(message.get("ts"), str)
    ]
    if not messages:
        return None
    return [
        Conversation(
            messages=[
                ChatMessage(
                    role=PERSON,
                    text=_unescaped(_text(message.get("text"))),
                    time=_slack_time(message["ts"]),
                    author=_slack_author(message),
                )
                for message in messages
            ]
        )
    ]


def _slack_author(message: _Json) -> str:
    profile = message.get("user_profile")
    name = _text(profile.get("real_name")) if isinstance(profile, dict) else ""
    return name or _text(message.get("username")) or _text(message.get("user"))


def _slack_time(stamp: str) -> str:
    try:
        return _time(float(stamp))
    except ValueError:
        return stamp[:40]


def _unescaped(text: str) -> str:
    """Convert Slack's markup to plain text: links by their label, references by characters."""
    unlinked = _SLACK_LINK.sub(lambda link: link[2] or link[1] or link[3] or "", text)
    return unlinked.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


# Teams: messages as its programming interface gives them, or the export of an account.


def _teams(json_value: Any) -> list[Conversation] | None:
    if isinstance(json_value, dict) and isinstance(json_value.get("conversations"), list):
        listed = [
            chat
            for chat in _dicts(json_value["conversations"])
            if isinstance(chat.get("MessageList"), list)
        ]
        return [
            Conversation(
                messages=[
                    ChatMessage(
                        role=PERSON,
                        text=read_page(_text(message.get("content"))).text,
                        time=_time(message.get("originalarrivaltime")),
                        author=_text(message.get("displayName")) or _text(message.get("from")),
                    )
                    for message in _dicts(chat["MessageList"])
                ],
                title=_text(chat.get("displayName")),
            )
            for chat in listed
        ] or None
    listed = _dicts(json_value.get("value")) if isinstance(json_value, dict) else _dicts(json_value)
    messages = [
        message
        for message in listed
        if "messageType" in message and isinstance(message.get("body"), dict)
    ]
    if not messages:
        return None
    return [Conversation(messages=[_teams_message(message) for message in messages])]


def _teams_message(message: _Json) -> ChatMessage:
    body = message["body"]
    text = _text(body.get("content"))
    if body.get("contentType") == "html":
        text = read_page(text).text
    sender = message.get("from")
    user = sender.get("user") if isinstance(sender, dict) else None
    return ChatMessage(
        role=PERSON,
        text=text,
        time=_time(message.get("createdDateTime")),
        author=_text(user.get("displayName")) if isinstance(user, dict) else "",
    )


# Lists of messages with a role, as the interfaces of engines take them and datasets keep them.


def _roles(json_value: Any) -> list[Conversation] | None:
    listed = json_value if isinstance(json_value, list) else [json_value]
    conversations = []
    for exchange in listed:
        messages = _messages_with_roles(exchange)
        if messages is None:
            return None
        conversations.append(Conversation(messages=messages))
    return conversations or None


def _messages_with_roles(exchange: Any) -> list[ChatMessage] | None:
    """Return the messages of a request, of an answer to it, or of both."""
    if not isinstance(exchange, dict):
        return None
    messages: list[ChatMessage] = []
    for name in ("messages", "conversations", "conversation", "contents", "input", "output"):
        listed = _dicts(exchange.get(name))
        if listed and all(_is_message(message) for message in listed):
            messages += [_message(message) for message in listed]
    for choice in _dicts(exchange.get("choices")):
        if isinstance(choice.get("message"), dict):
            messages.append(_message({"role": ASSISTANT, **choice["message"]}))
    for candidate in _dicts(exchange.get("candidates")):
        if isinstance(candidate.get("content"), dict):
            messages.append(_message({"role": ASSISTANT, **candidate["content"]}))
    if not messages and exchange.get("type") == "message" and _is_message(exchange):
        messages.append(_message(exchange))
    return messages or None


def _is_message(message: _Json) -> bool:
    role = message.get("role", message.get("from"))
    message_text = next((message[name] for name in _WORDS_OF_MESSAGE if name in message), None)
    return isinstance(role, str) and isinstance(message_text, str | list)


_WORDS_OF_MESSAGE: Final = ("content", "value", "parts", "text")


def _message(message: _Json) -> ChatMessage:
    message_text = next((message[name] for name in _WORDS_OF_MESSAGE if name in message), "")
    moment = next((message[n] for n in ("time", "timestamp", "created_at") if n in message), None)
    return ChatMessage(
        role=_role(message.get("role", message.get("from"))),
        text=_text(message_text),
        time=_time(moment),
        pieces=len(message_text) if isinstance(message_text, list) and message_text else 1,
    )


_ADAPTERS: Final[tuple[Callable[[Any], list[Conversation] | None], ...]] = (
    _chatgpt,
    _claude,
    _gemini,
    _teams,
    _telegram,
    _slack,
    _roles,
)


# Streams: an answer arrives in pieces, one to a line.


def stream_extracts(events: Iterable[Any], decoded: DecodedText) -> list[Extract] | None:
    """Return the streamed answers of a file, each joined to one text.

    Args:
        events: The events of the stream in order, as JSON values.
        decoded: The decoded file.

    Returns:
        The answers; None if a value is not an event of a stream.
    """
    answers: dict[str, list[str]] = {}
    finished = 0
    for event in events:
        pieces = _stream_pieces(event)
        if pieces is None:
            return None
        for answer, text in pieces:
            if text:
                answers.setdefault(f"{finished} {answer}", []).append(text)
        finished += _is_last_piece(event)
    if not answers:
        return None
    return [
        Extract.of(
            decoded,
            "".join(pieces),
            f"answer {number}" if len(answers) > 1 else "",
            transforms=(Transform(name="pieces-joined", count=len(pieces)),),
        )
        for number, pieces in enumerate(answers.values(), 1)
    ]


_EVENTS: Final = re.compile(r"(message|content_block|response|ping|error)(_|\.|$)")
"""Event types of streams; only some events carry text."""


def _stream_pieces(event: Any) -> list[tuple[str, str]] | None:
    """Return the texts in an event of a stream, each with the identifier of its answer.

    Returns:
        An empty list for an event without text; None for a value that is not an event.
    """
    if not isinstance(event, dict):
        return None
    kind = event.get("type")
    # Chunks of OpenAI's interface, which most engines have: of chats, and of completions.
    if event.get("object") in ("chat.completion.chunk", "text_completion"):
        return [
            (
                f"{event.get('id')} {choice.get('index')}",
                _text(choice.get("delta")) if "delta" in choice else _text(choice.get("text")),
            )
            for choice in _dicts(event.get("choices"))
        ]
    if kind == "response.output_text.delta":
        return [(f"{event.get('item_id')} {event.get('content_index')}", _text(event["delta"]))]
    if kind == "content_block_delta" and isinstance(event.get("delta"), dict):
        return [(f"{event.get('index')}", _text(event["delta"]))]
    if isinstance(kind, str) and _EVENTS.match(kind):
        return []
    # Ollama: a chat, or a completion.
    if "done" in event and "model" in event:
        message = event.get("message", event.get("response"))
        return [("", _text(message))]
    if isinstance(event.get("candidates"), list):
        return [
            (f"{candidate.get('index', 0)}", _text(candidate.get("content")))
            for candidate in _dicts(event["candidates"])
        ]
    return None


def _is_last_piece(event: _Json) -> bool:
    """Return whether an event ends an answer, so that the next event begins another one."""
    if event.get("type") == "message_stop" or event.get("done") is True:
        return True
    return any(candidate.get("finishReason") for candidate in _dicts(event.get("candidates")))


def read_stream(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return the answers of a saved stream of events (``data: {…}``)."""
    decoded = decode(file_bytes, choice=options.encoding)
    payloads: list[str] = []
    for line in decoded.text.removeprefix("\ufeff").splitlines():
        name, _, payload = line.partition(":")
        if name == "data" and payload.strip() not in ("", "[DONE]"):
            payloads.append(payload)
    try:
        events = [json.loads(payload) for payload in payloads]
    except ValueError:
        raise damaged(FORMATS["stream"].label) from None
    extracts = stream_extracts(events, decoded)
    if extracts is None:
        raise InputError("input.empty", code="input-empty")
    return extracts


def is_joined(extracts: list[Extract]) -> bool:
    """Return whether a text of a stream was joined from several pieces."""
    return any(change.count > 1 for extract in extracts for change in extract.transforms)


# WhatsApp: a text file with a line for each message.

_WHATSAPP: Final = re.compile(
    r"\u200e?\[?(\d{1,4}[./-]\d{1,2}[./-]\d{1,4}, \d{1,2}[:.]\d{2}(?:[:.]\d{2})?"
    r"(?:[ \u202f\u00a0]?[AaPp]\.?[Mm]\.?)?)(?:\] | - )(?:([^:\n]{1,80}): ?)?"
)


def read_whatsapp(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return the messages of an exported WhatsApp chat, each with its continuation lines."""
    decoded = decode(file_bytes, choice=options.encoding)
    messages: list[ChatMessage] = []
    for line in decoded.text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"):
        head = _WHATSAPP.match(line)
        if head is not None or not messages:
            # A line without a name is a message of the program itself.
            author = (head[2] or "") if head is not None else ""
            messages.append(
                ChatMessage(
                    role=PERSON if author else "system",
                    text=line if head is None else line[head.end() :],
                    time="" if head is None else head[1],
                    author=author,
                )
            )
        else:
            messages[-1] = replace(messages[-1], text=f"{messages[-1].text}\n{line}")
    stripped = [replace(message, text=message.text.strip("\n")) for message in messages]
    return _extracts([Conversation(messages=stripped)], decoded)
